"""Networks and the compiled loop that trains them; the only floor-two room that needs JAX."""
