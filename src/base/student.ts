/**
 * Student's t: how many standard errors wide a two-sided 95% interval is for few observations.
 * Values: NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
 */
const TABLE = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
export const NORMAL_95 = 1.959964;

export function studentQuantile95(degrees: number): number {
  if (!(degrees >= 1)) return TABLE[0];
  const whole = Math.floor(degrees);
  if (whole <= TABLE.length) return TABLE[whole - 1];
  // Cornish and Fisher's first term: within 0.001 from here on.
  return NORMAL_95 + (NORMAL_95 ** 3 + NORMAL_95) / (4 * degrees);
}
