import { testOutage } from './outage.ts';

testOutage({ kind: 'refuse' });
