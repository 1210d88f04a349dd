/** Limits of the interface (§8) and of the public dialect. */
export const LIMITS = {
  /** Longest `onstart` script of an instance, in characters. */
  onstartLength: 4048,
  /** Longest label of a second factor, in characters. */
  methodLabelLength: 30,
  /** Backup codes in one set. */
  backupCodesPerSet: 10,
  /** How long a 2FA code challenge is valid, in seconds. */
  challengeValiditySeconds: 10 * 60,
  /** How long a method may be added after authorization, in seconds. */
  addMethodWindowSeconds: 30 * 60,
  /** How long a method is locked after failed verifications, in seconds. */
  methodLockoutSeconds: 15 * 60,
  /** Default of a template's `recommended_disk_space`, in GB. */
  recommendedDiskSpaceGb: 8,
  /** Largest `target_util` of an endpoint group, a fraction (§2.7). */
  targetUtilMax: 1.0,
  /** Default of `tail`, in lines or bytes, and the most lines of one answer (public dialect). */
  logTailMax: 10_000,
  /** Most rows of a page of charges (public dialect). */
  chargesPageMax: 500,
  /** Most offers that one request rents (public dialect). */
  bulkOffersMax: 64,
} as const;
