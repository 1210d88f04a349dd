/** Account safety: whether 2FA is on, how many backup codes remain, which methods are locked (§2.4, §4.4). */
import type { ClientOf } from '../client/caller.ts';

/** As the status publishes it. */
interface AccountView {
  readonly tfa_enabled: boolean;
  /** `enabled`, `disabled` or `legacy`; null if the service does not tell, as below. */
  readonly tfa_status: string | null;
  readonly backup_codes_remaining: number | null;
  readonly locked_methods: number;
}

/** As often as it is looked at by default. */
const TURN = { everyMs: 900_000, need: 'watch' } as const;

/** `nowSeconds` is Unix time in seconds, which `locked_until` is compared with. */
export function createAccountWatch(
  client: Pick<ClientOf<'users.current' | 'tfa.status'>, 'users' | 'tfa'>,
  nowSeconds: () => number,
) {
  let view: AccountView | undefined;
  return {
    async run(signal: AbortSignal): Promise<void> {
      const [user, status] = await Promise.all([
        client.users.current({}, { signal, turn: TURN }),
        client.tfa.status({}, { signal, turn: TURN }),
      ]);
      view = {
        tfa_enabled: status.tfa_enabled ?? status.methods.length > 0,
        tfa_status: user.tfa_status ?? null,
        backup_codes_remaining: status.backup_codes_remaining ?? null,
        locked_methods: status.methods.filter(({ locked_until }) => (locked_until ?? 0) > nowSeconds())
          .length,
      };
    },
    /** Undefined until the first successful run. */
    view: () => view,
  };
}
