import type { DaemonChild } from '../../../../src/heartbeat/process/supervisor.ts';
import type { DaemonMessage, HeartMessage } from '../../../../src/heartbeat/process/link.ts';

/** A daemon as the test wants it: it takes reports, or not; it ends when it is told to, or not. */
export class ScriptedDaemon implements DaemonChild {
  readonly pid: number | undefined;
  readonly heard: HeartMessage[] = [];
  killed = false;
  takes = true;
  obeys = true;
  #hear: (message: DaemonMessage) => void = () => {};
  readonly #end = Promise.withResolvers<string>();
  readonly ended = this.#end.promise;

  constructor(pid?: number) {
    this.pid = pid;
  }

  readonly send = (message: HeartMessage): void => {
    this.heard.push(message);
    if (message.type === 'report' && this.takes) this.say({ type: 'taken', number: message.report.number });
    if (message.type === 'stop' && this.obeys) this.end('exit code 0');
  };

  readonly listen = (hear: (message: DaemonMessage) => void): void => {
    this.#hear = hear;
  };

  say(message: DaemonMessage): void {
    void Promise.resolve().then(() => this.#hear(message));
  }

  end(how: string): void {
    this.#end.resolve(how);
  }

  kill(): void {
    this.killed = true;
    this.end('signal SIGKILL');
  }
}
