import { Command } from 'commander';
export function emulatorCommand(): Command {
  return new Command('emulator');
}
