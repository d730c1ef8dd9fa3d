import { useTexts } from '../texts/index.ts'
import { keyNames } from './key-names.ts'

/** Formats a shortcut for a menu: `Ctrl+C`, or `⌘C` on a Mac. */
export function useKeyLabel(): (shortcut: string) => string {
  const { keys } = useTexts('commands')
  return (shortcut) => {
    const names = keyNames(shortcut, keys)
    return names.join(names.includes('⌘') ? '' : '+')
  }
}
