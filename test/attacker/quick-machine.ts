/** A simulated computer on which nothing takes time but waiting: an attack is about what is stored, and in which order. */
import { Machine } from '../simulator/machine.ts';

export class QuickMachine extends Machine {
  override async step(): Promise<void> {
    await Promise.resolve();
  }
}
