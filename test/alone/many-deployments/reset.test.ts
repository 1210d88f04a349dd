import { testOutage } from './outage.ts';

testOutage({ kind: 'reset' });
