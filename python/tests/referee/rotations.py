"""Vectors, rotations and inertias, with any leading dimensions. Quaternions are (w, x, y, z), body to inertial axes."""

from __future__ import annotations

import numpy as np

_ONE, _TWO = [1, 2, 0], [2, 0, 1]


def cross(a, b):
    return a[..., _ONE] * b[..., _TWO] - a[..., _TWO] * b[..., _ONE]


def dot(a, b):
    return np.einsum("...i,...i->...", a, b)


def turn(R, a):
    return np.einsum("...ij,...j->...i", R, a)


def turn_back(R, a):
    return np.einsum("...ji,...j->...i", R, a)


def rotation_of(q):
    """R of a quaternion (w, x, y, z) of any length."""
    q = q / np.sqrt(dot(q, q))[..., None]
    w, x, y, z = np.moveaxis(q, -1, 0)
    R = np.empty(q.shape[:-1] + (3, 3))
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return R


def quaternion_of(R):
    """Bar-Itzhack: the eigenvector of the largest eigenvalue of a symmetric 4x4 matrix."""
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    K = np.empty(R.shape[:-2] + (4, 4))
    K[..., 0, 0], K[..., 1, 1], K[..., 2, 2], K[..., 3, 3] = xx + yy + zz, xx - yy - zz, yy - xx - zz, zz - xx - yy
    for i, j, value in (
        (0, 1, R[..., 2, 1] - R[..., 1, 2]), (0, 2, R[..., 0, 2] - R[..., 2, 0]), (0, 3, R[..., 1, 0] - R[..., 0, 1]),
        (1, 2, R[..., 0, 1] + R[..., 1, 0]), (1, 3, R[..., 0, 2] + R[..., 2, 0]), (2, 3, R[..., 1, 2] + R[..., 2, 1]),
    ):
        K[..., i, j] = K[..., j, i] = value
    return np.linalg.eigh(K)[1][..., :, 3]


def times(p, q):
    """Product of quaternions."""
    s, u = p[..., :1], p[..., 1:]
    r, v = q[..., :1], q[..., 1:]
    return np.concatenate([s * r - dot(u, v)[..., None], s * v + r * u + cross(u, v)], axis=-1)


def quaternion_exp(rotation):
    """Of a rotation vector."""
    half = 0.5 * np.sqrt(dot(rotation, rotation))[..., None]
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * rotation], axis=-1)


def rotation_vector(R):
    """Below half a turn."""
    q = quaternion_of(R)
    q = q * np.where(q[..., :1] < 0, -1.0, 1.0)
    s = np.sqrt(dot(q[..., 1:], q[..., 1:]))[..., None]
    angle = 2 * np.arctan2(s, q[..., :1])
    return np.where(s > 1e-150, angle / np.where(s > 1e-150, s, 1.0), 2.0) * q[..., 1:]


def axes_along(z):
    """Three perpendicular axes with the third along z, as columns."""
    z = z / np.sqrt(dot(z, z))[..., None]
    x = np.eye(3)[np.argmin(np.abs(z), axis=-1)]
    x = x - dot(x, z)[..., None] * z
    x = x / np.sqrt(dot(x, x))[..., None]
    return np.stack([x, cross(z, x), z], axis=-1)


def given_rotation(given, number):
    """The rotation matrix of what a model file says."""
    if given is None:
        return np.eye(3)
    if isinstance(given, list):
        given = {"rotation_vector": given}
    read = {key: np.array(number(value)) for key, value in given.items()}
    if "matrix" in read:
        return read["matrix"]
    if "quaternion" in read:
        return rotation_of(read["quaternion"])
    if "cardan" in read:
        a, b, c = (rotation_of(quaternion_exp(angle * axis)) for angle, axis in zip(read["cardan"], np.eye(3)))
        return a @ b @ c
    if "axis" in read:
        return rotation_of(quaternion_exp(read["angle"] * read["axis"] / np.linalg.norm(read["axis"])))
    return rotation_of(quaternion_exp(read["rotation_vector"]))


def given_inertia(given):
    given = np.array(given)
    if given.ndim == 2:
        return given
    if given.ndim == 0:
        return given * np.eye(3)  # a body in the plane turns about one axis only
    if len(given) == 3:
        return np.diag(given)
    xx, yy, zz, yz, xz, xy = given
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def unit(a):
    return a / np.sqrt(dot(a, a))[..., None]
