"""Is this machine ready? One look at environment, codecs, devices, models and judge, before hours of work depend on it.

    finding    what one check says, and how a list of them is shown
    machine    software, cores, memory, disk, GPU and its libraries
    codecs     tiny clips of many kinds, written, decoded and compared frame by frame
    device     engines and what they proved, and a GPU's frames against the CPU's
    models     which model serves which capability, what each suite lacks and where it comes from
    judge      whether a judge answers

A missing model is no fault until a manifest needs it. Scores nothing and changes nothing but the caches.
"""
