/** How far the service's clock is from ours, by the Date header of its last answer. */
export class ServiceClock {
  /** The service's clock minus ours, to a tenth of a second; null before the first answer. */
  skewSeconds: number | null = null;

  /** `at`: when the answer came, Unix ms. */
  saw(serverDate: string | undefined, at: number): void {
    const served = Date.parse(serverDate ?? '');
    // The header counts whole seconds, so half of one is added; the time on the wire is part of the error.
    if (!Number.isNaN(served)) this.skewSeconds = Math.round((served + 500 - at) / 100) / 10;
  }
}
