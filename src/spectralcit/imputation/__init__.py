"""Missing values drawn under the null hypothesis, where only Z ties X to Y, and answers pooled."""
