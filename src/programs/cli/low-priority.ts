import { constants, setPriority } from 'node:os'

/** Lowers the priority of this process, so that requests to a server on the same machine come first. */
export function lowerPriority(): void {
  setPriority(constants.priority.PRIORITY_LOW)
}
