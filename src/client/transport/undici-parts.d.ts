/** undici.ts gives these modules their types. */
declare module 'undici/lib/*.js';
