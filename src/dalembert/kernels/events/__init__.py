"""When something happens within a step: brackets of event functions, what lies below a function between two points, zeros of parabolas."""
