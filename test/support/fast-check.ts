/**
 * fast-check, with one seed for all properties where PROPERTY_SEED names it, as the gate does: a commit that passed it once
 * passes again. Without it each run has seeds of its own, and a property that fails prints them.
 */
import * as fc from 'fast-check';

const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED !== undefined)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) });

export * from 'fast-check';
