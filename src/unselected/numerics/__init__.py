"""Numerical methods that know nothing of features or classes.

Public modules
--------------
beta_binomial      tables of the beta-binomial law, for all counts at once
beta_binomial_integral  its integral over theta, many cases
chains             Markov chains: running them, their draws, R-hat and effective sample sizes
chi_squared_ratio  ratios of weighted sums of squared normals, by a contour integral
increasing         roots of increasing functions, quantiles
interpolation      polynomials through the nearest known values
kernels            compiled loops (numba), where they pay
many_trapezoids    the adaptive trapezoid rule for many functions at once
one_thread         linear algebra in one thread
quadrature         Gauss-Legendre, Simpson and adaptive trapezoid rules; sums of logarithms
resampling         means over cases, with intervals from resampled cases or groups
ridge_logits       multinomial logistic regressions with normal priors
slice_sampling     slice and elliptical slice sampling
"""
