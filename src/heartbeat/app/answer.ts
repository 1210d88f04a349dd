/** What came of asking the app once. */
export type AppAnswer =
  | { readonly well: true }
  /** In words, without anything that the address holds. */
  | { readonly well: false; readonly why: string };
