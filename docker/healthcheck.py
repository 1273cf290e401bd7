"""`healthcheck.py PORT`: exit code 0 if the judge server on loopback says that it is well, else 1 and why."""

from __future__ import annotations

import http.client
import sys

SECONDS = 4.0


def main() -> int:
    """Ask once."""
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=SECONDS)
    try:
        connection.request("GET", "/health")
        status = connection.getresponse().status
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if status == http.client.OK else 1


if __name__ == "__main__":
    sys.exit(main())
