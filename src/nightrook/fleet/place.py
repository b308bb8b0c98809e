"""Which fleet a command is about: the one that is named, or that of the user's settings."""

from nightrook.config.user_settings import fleet_credentials
from nightrook.fleet.accounts.credentials import Credentials, read_credentials
from nightrook.fleet.connection import Address, FleetError
from nightrook.fleet.worker.worker import default_name


def read_place(named: str | None) -> tuple[Address, Credentials | None]:
    """The server and who connects; credentials are None where the server has no accounts."""
    source = named or fleet_credentials()
    if source is None:
        raise FleetError(
            "there is no fleet: use --credentials FILE, or set fleet_credentials; "
            "rook fleet init makes a fleet, and rook fleet demo one to try"
        )
    if "://" in source:
        return Address(url=source, user=default_name()), None
    credentials = read_credentials(source)
    return credentials.address(), credentials
