/** `cudaMalloc_v3020`, `cudaLaunchKernel_ptsz`: the function, without the version of its ABI. */
export const apiFunction = (name: string): string => name.replace(/(_v\d+|_ptsz|_ptds)+$/, '');
