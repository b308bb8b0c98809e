"""The process that sends a message with apprise; failed services are named without secrets."""

import os
import sys

import msgspec

from nightrook.notify.services import MESSAGE, Message


def main() -> int:
    """Send the message of the environment; return the exit code."""
    import apprise

    message = msgspec.json.decode(os.environ[MESSAGE], type=Message)
    failed = []
    for url in message.urls:
        service = apprise.Apprise()
        sent = service.add(url) and service.notify(title=message.title, body=message.body)
        if not sent:
            failed.append(url.partition("://")[0])
    if failed:
        sys.stderr.write(f"not sent by {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
