"""The settings of nginx before several workers: one door, visitors kept on their worker."""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Door", "nginx_settings"]


class _Template(string.Template):
    delimiter = "@"  # nginx's own variables begin with a dollar


@dataclass(frozen=True)
class Door:
    """Where visitors come in.

    Attributes
    ----------
    address, port : str, int
        What nginx listens on.
    certificate, key : Path or None
        Files of a TLS certificate; without them the door speaks plain HTTP.
    largest_upload : int
        In megabytes.
    """

    address: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    largest_upload: int = 200

    @property
    def url(self) -> str:
        """How a visitor on this machine gets in."""
        shown = "localhost" if self.address in ("0.0.0.0", "127.0.0.1") else self.address
        return f"http{'s' if self.certificate else ''}://{shown}:{self.port}"


# A visitor's first request goes to the next worker in turn, and brings a cookie back that keeps
# all the others there; where that worker is down, another takes over. Neither an upload nor an
# answer is ever written to disk, and who came is not logged.
_SETTINGS = _Template("""\
worker_processes 1;
daemon off;
pid @folder/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
    access_log off;
    server_tokens off;
    client_body_temp_path @folder/body;
    proxy_temp_path @folder/proxy;
    fastcgi_temp_path @folder/fastcgi;
    uwsgi_temp_path @folder/uwsgi;
    scgi_temp_path @folder/scgi;
    map $http_upgrade $connection_upgrade { default upgrade; "" close; }
    upstream in_turn {
@in_turn
    }
@upstreams
    map $cookie_fairfl_worker $pool {
        default in_turn;
@pools
    }
    map $upstream_addr $worker {
        default "";
@workers
    }
    map "$cookie_fairfl_worker:$worker" $stays {
        default "fairfl_worker=$worker; Path=/; HttpOnly; SameSite=Lax@secure";
        "~^(.+):\\\\1$" "";
        "~:$" "";
    }
    server {
        listen @listen;
@tls
        client_max_body_size @{upload}m;
        add_header Set-Cookie $stays always;
        add_header X-Frame-Options DENY always;
        add_header X-Content-Type-Options nosniff always;
        add_header Referrer-Policy no-referrer always;
        add_header Content-Security-Policy "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss: data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; frame-ancestors 'none'" always;
        location = /_stcore/metrics { return 404; }
        location = /_stcore/script-health-check { return 404; }
        location / {
            proxy_pass http://$pool;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_connect_timeout 2s;
            proxy_read_timeout 1d;
            proxy_request_buffering off;
            proxy_max_temp_file_size 0;
            proxy_next_upstream error timeout non_idempotent;
        }
    }
}
""")


def nginx_settings(door: Door, workers: Sequence[str], folder: Path) -> str:
    """The text of nginx's settings for workers at these addresses ("127.0.0.1:9001").

    `folder` is nginx's own: its process number and the places it would buffer in.
    """
    names = [f"w{number}" for number in range(len(workers))]
    fails = "max_fails=1 fail_timeout=2s"
    upstreams = []
    for name, own in zip(names, workers, strict=True):
        others = "".join(f" server {other} backup;" for other in workers if other != own)
        upstreams.append(f"    upstream {name} {{ server {own} {fails};{others} }}")
    tls = f"        ssl_certificate {door.certificate};\n        ssl_certificate_key {door.key};"
    return _SETTINGS.substitute(
        folder=folder,
        in_turn="\n".join(f"        server {address} {fails};" for address in workers),
        upstreams="\n".join(upstreams),
        pools="\n".join(f"        {name} {name};" for name in names),
        workers="\n".join(
            # After a fallback the last address is the one that answered.
            f'        "~(^|, ){address.replace(".", "[.]")}$" {name};'
            for name, address in zip(names, workers, strict=True)
        ),
        secure="; Secure" if door.certificate else "",
        listen=f"{door.address}:{door.port}{' ssl' if door.certificate else ''}",
        tls=tls if door.certificate else "",
        upload=door.largest_upload + 1,
    )
