/** What the completion scripts and the command that they call agree on. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The hidden command that a shell runs at each Tab. */
export const COMPLETE = '__complete';

/** Any file may come next: the shell knows those better. */
export const FILES = ':files';
