"""`python -m nightrook` is the same as `rook`."""

from nightrook.cli.main import main

if __name__ == "__main__":
    main()
