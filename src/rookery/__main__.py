"""`python -m rookery` is the same as `rook`."""

from rookery.cli.main import main

if __name__ == "__main__":
    main()
