/** What each parameter means, for someone who has never seen it: half a sentence that goes on from its name. */
import type { EndpointGroupParameter } from '../../contract/operations/serverless/endpoint-groups.ts';

export const MEANINGS: Record<EndpointGroupParameter, string> = {
  min_load:
    'the load, in units of work a second, that hot workers are kept ready for even when nothing arrives; 0 keeps none',
  min_cold_load:
    'the load, in units of work a second, that hot and cold (stopped) workers can carry together even when nothing arrives; 0 keeps none',
  target_util: 'how busy the hot workers should be: 0.9 keeps a tenth of their capacity free for peaks',
  cold_mult:
    'how much hot and cold (stopped) workers can carry together, as a multiple of what should be hot: 2 keeps as much again in reserve',
  cold_workers:
    'how many workers there are at least, cold (stopped, quick to start) unless load keeps them hot',
  max_workers: 'how many workers there are at most, hot and cold together; it bounds what the group can cost',
  endpoint_name: 'the name of the endpoint that the group serves; several groups may share one',
  max_queue_time:
    'how many seconds of requests may wait on one worker; further ones wait until a worker has room',
  target_queue_time: 'how many seconds a request may have to wait before the group asks for more workers',
  inactivity_timeout:
    'how many seconds without a request pass before the last hot worker may be stopped; the next request then waits for a start',
};
