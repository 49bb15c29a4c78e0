"""A server's own folder: where it listens, and by what clients know it."""

import contextlib
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairfl_core.errors import InputError
from fairfl_core.federation.study import read_toml

__all__ = ["SERVER", "ServerFolder", "all_there", "free_port", "host_and_port", "is_loopback"]

SERVER = "server.toml"
FORMAT = "fairfl-server/1"


def is_loopback(address: str) -> bool:
    """Whether an address is this very machine's own."""
    host = host_and_port(address)[0]
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def host_and_port(address: str) -> tuple[str, int]:
    """The two parts of an address, or a sentence."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f'"{address}" is not an address like 127.0.0.1:8000; correct it.')
    return host.strip("[]"), int(port)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass(frozen=True)
class ServerFolder:
    """What a server's ``server.toml`` says; paths are relative to its folder.

    Attributes
    ----------
    address : str
        Where it listens, host and port.
    ca_certificate, certificate, private_key : str
        By which clients know it.
    client_keys : str
        The folder of the clients' public keys, one file a client.
    """

    path: Path
    address: str
    ca_certificate: str = "ca.crt"
    certificate: str = "server.crt"
    private_key: str = "server.key"
    client_keys: str = "keys"

    @classmethod
    def read(cls, path: Path) -> "ServerFolder":
        """Read a server's folder."""
        file = path / SERVER
        value = read_toml(file)
        if value.get("format") != FORMAT:
            raise InputError(
                f'{file}: "format" is not "{FORMAT}"; make it with `fairfl federation init`.'
            )
        try:
            return cls(path, str(value["address"]), **value.get("security", {}))
        except (KeyError, TypeError) as error:
            raise InputError(f"{file}: lacks or misnames something ({error}).") from error

    def certificates(self) -> dict[str, Path]:
        """The three files, all there; refused otherwise."""
        return all_there(
            self.path,
            {
                name: getattr(self, name)
                for name in ("ca_certificate", "certificate", "private_key")
            },
            f"{self.address} is not this machine alone",
        )

    def keys(self) -> list[Path]:
        """The public keys of the clients that are let in."""
        keys = sorted((self.path / self.client_keys).glob("*.pub"))
        if not keys:
            raise InputError(
                f"{self.path / self.client_keys}: holds no client's public key (*.pub), so nobody "
                "could be let in; docs/federation.md has the commands that make them."
            )
        return keys


def all_there(folder: Path, files: Mapping[str, str], why: str) -> dict[str, Path]:
    """The files that security needs, all of them there; else the one that is not is named."""
    found = {name: (folder / file).resolve() for name, file in files.items()}
    for name, path in found.items():
        if not files[name] or not path.is_file():
            raise InputError(
                f"{why}, so certificates are needed, and there is no {name.replace('_', ' ')} "
                f"({folder / (files[name] or name)}); docs/federation.md has the commands that "
                "make them."
            )
    return found
