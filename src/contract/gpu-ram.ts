/**
 * `gpu_ram` is in MB in the REST interface and in GB in the vendor's command-line tool, which takes 1 GB as
 * 1000 MB (§1, unit quirk). Names that say the unit keep the two apart.
 */
const MB_PER_GB = 1000;

/** GB, as people say it, to the MB of `gpu_ram`. */
export function gpuRamMbOfGb(gb: number): number {
  return gb * MB_PER_GB;
}

/** The MB of `gpu_ram` to GB. */
export function gpuRamGbOfMb(mb: number): number {
  return mb / MB_PER_GB;
}
