"""Contacts with dry friction, compiled. Three unknowns per contact, interleaved: (normal, first tangent, second tangent).

    u = W r + b                                                          velocities from impulses
    0 <= r_n  _|_  u_n >= 0                                              normal complementarity
    |r_t| <= c + mu r_n,   u_t = -s r_t / |r_t|,  s >= 0, s = 0 inside   Coulomb's law with the radius c + mu r_n

c = 0 is the cone, mu = 0 the cylinder with the radius c. One file per method: `local` solves one contact, `sweep` block Gauss-Seidel,
`newton` semismooth Newton, `run` alternates between the two. Kernels allocate nothing and raise nothing.
"""
