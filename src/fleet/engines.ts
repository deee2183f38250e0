/** Where files can be mapped. */
export const fleetEngines = ['local', 'slurm', 'k8s'] as const;
export type FleetEngine = (typeof fleetEngines)[number];
