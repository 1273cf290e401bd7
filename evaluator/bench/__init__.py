"""How fast the metric core is: measured on this machine, against its limits and against the usual flow.

    clips       the fixed synthetic set, made once and cached
    workload    which clips go into which manifest
    process     one child process and what it cost
    machine     what ran, and the machine's measured peak
    decoders    what decoding alone costs, per decoder
    sessions    what the networks alone cost, on ready tensors
    core        one run of the whole suite, taken apart: S1, S2, S3, S7
    starts      start and resume: S6, S8
    scale       parallel use, memory, identity: S5, S9, S10
    passes      what a run decoded, to be decoded again alone
    pictures    what decoding costs when it makes the wanted pictures
    gpu, gpu_decode  a GPU: its decoder, decoding beside inference, its pictures: G1, G4, G9
    asking      a judge's server and our way of asking it: G6
    rival, race the usual flow (one process per metric and case), and ours against it: S4
    board       the figures with their targets
    against     two boards compared, by ratios only
    render      the board for people
    bench       the order of it all

Every figure of the board is a ratio or a count, taken in CPU time (a GPU's and a judge's: of the wall): a busy machine
makes it noisier, not another figure.
Knows the runner; knows no metric's arithmetic.

Measured once, and not done (ONNX Runtime 1.32, FFmpeg 8.1, a Xeon with AVX-512 VNNI, one thread where none is named):

* Eight bits. TransNetV2, static, per channel, calibrated on the very clip: 494 ms a window instead of 1420, and logits
  off by 0.08 on average, by 0.26 at most, where -11 to 2 occur. RIFE: 48 ms instead of 75, pixels off by up to 0.43 of
  their range. EfficientNet-Lite0: 22 ms instead of 25, embeddings off by up to 4.3, where 0 to 5.6 occur. Dynamic
  quantisation has matrix products to work on and no convolution, and won nothing on TransNetV2 and RIFE. The winner's
  numbers would also be those of one kind of processor: without VNNI the same products saturate.
* Optimised graphs kept on disk. Opening 15 of the core's networks takes 391 ms, and 190 ms from files that ONNX Runtime
  has optimised before: 0.2 s once per process, 27 ms of a start that needs one network. Such a file holds for one
  processor and one version, is in no lock, and YAMNet's cannot be moved from the folder of its data.
* Threads in place of workers. Two threads decode the same frames for 8 % (720p) to 19 % (1080p) more CPU, and run
  TransNetV2 and RIFE, to the same bits, for 3 to 5 % more. One worker per core keeps the cores busy for 96 % of the
  time (S5) and pays nothing for it.
* Scaling to BGR or RGBA, for which FFmpeg has vector code, instead of RGB: a quarter cheaper, and up to 16 levels off.
"""
