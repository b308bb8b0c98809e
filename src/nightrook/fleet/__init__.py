"""The same run on many machines: jobs, logs and beats over NATS, mirrored into run folders."""
