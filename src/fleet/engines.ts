/** Where files can be mapped. */
export const fleetEngines = ['local', 'slurm', 'k8s'] as const;
