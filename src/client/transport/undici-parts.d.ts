/** Modules of undici that come without types; undici.ts gives them theirs. */
declare module 'undici/lib/*.js';
