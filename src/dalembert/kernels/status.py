"""What a kernel can answer. 0 is success; everything else is turned into a sentence with a remedy by the public layer."""

OK = 0
NOT_CONVERGED = 1
NOT_FINITE = 2
SINGULAR = 3
NO_SOLUTION = 4
LOST = 5
RUNAWAY = 6
EVENT = 7
TOO_MANY_EVENTS = 8
NO_CONTINUATION = 9
UNMET = 10

# Added to residual tolerances: a relative tolerance cannot be met where numbers become subnormal (a body that has been damped to rest).
TINY = 1e-290

MEANING = {
    OK: "ok",
    NOT_CONVERGED: "the step did not converge",
    NOT_FINITE: "the state became infinite or not a number",
    SINGULAR: "the Jacobian of the step is singular",
    NO_SOLUTION: "the discrete equations have no real solution at this step size",
    LOST: "the step did not converge to a solution that continues the motion",
    RUNAWAY: "the kinetic energy has grown to many times what the start can give, which steps of this size do not keep in a band",
    EVENT: "a constraint on one side is met within the step",
    TOO_MANY_EVENTS: "more impacts within one step than are allowed",
    NO_CONTINUATION: "no step of a similar length has the energy of the steps before",
    UNMET: "no instant of contact was found between a node at which bodies are apart and one at which they overlap",
}
