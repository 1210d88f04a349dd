/** Settings as people write them. */
import {
  SETTING_OPTIONS,
  type PlanSetting,
  type PlanSettings,
  type SettingOption,
} from '../../scaling/planner/settings.ts';

/** The value of a setting as its flag takes it. */
export function settingValue(key: PlanSetting, settings: PlanSettings): string {
  const { kind }: SettingOption = SETTING_OPTIONS[key];
  const value = settings[key];
  if (typeof value === 'object') {
    return value.least === value.most ? String(value.least) : `${value.least}..${value.most}`;
  }
  if (value === Infinity) return 'never';
  return kind === 'seconds' ? `${value}s` : String(value);
}
