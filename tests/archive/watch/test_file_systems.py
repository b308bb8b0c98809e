"""Which file systems do not report all changes."""

from nightrook.archive.watch.file_systems import FileSystems

MOUNTS = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n",
    "30 22 0:44 / /home/me/net\\040drive rw - nfs4 server:/export rw\n",
    "31 22 0:45 / /mnt/host rw - fuse.sshfs host: rw\n",
    "32 31 8:2 / /mnt/host/local rw - xfs /dev/sdb rw\n",
    "damaged\n",
]


def test_the_nearest_mount_above_a_folder_decides() -> None:
    systems = FileSystems(MOUNTS)
    found = {
        folder: systems.silent(folder)
        for folder in ("/home/me", "/home/me/net drive/a/b", "/mnt/host/x", "/mnt/host/local/y")
    }
    assert found == {
        "/home/me": None,
        "/home/me/net drive/a/b": "nfs4",
        "/mnt/host/x": "fuse.sshfs",
        "/mnt/host/local/y": None,
    }


def test_without_a_table_of_mounts_nothing_is_silent() -> None:
    assert FileSystems([]).silent("/home") is None
