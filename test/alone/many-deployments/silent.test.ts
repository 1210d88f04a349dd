import { testOutage } from './outage.ts';

testOutage({ kind: 'hang-after-request' });
