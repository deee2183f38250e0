/**
 * Where NVIDIA's and the distributions' packages put nsys: looked at on this machine, and on the far side of a capture.
 * A star stands for one folder name or a part of it. Folders are named after versions.
 */
export const NSYS_PLACES: Partial<Record<string, readonly string[]>> = {
  linux: [
    '/opt/nvidia/nsight-systems/*/bin/nsys',
    '/opt/nvidia/nsight-systems/*/target-linux-*/nsys',
    '/opt/nvidia/nsight-systems-cli/*/bin/nsys',
    '/opt/nvidia/nsight-systems-cli/*/target-linux-*/nsys',
    '/usr/local/cuda*/bin/nsys',
    '/usr/lib/nsight-systems/bin/nsys',
    '/opt/nvidia/nsight-compute/*/host/target-linux-*/nsys',
    '/usr/local/cuda*/nsight-compute-*/host/target-linux-*/nsys',
  ],
  darwin: ['/Applications/NVIDIA Nsight Systems*.app/Contents/*/nsys'],
  win32: ['/Program Files/NVIDIA Corporation/Nsight Systems */target-windows-*/nsys.exe'],
};
