print("fleetsim")
