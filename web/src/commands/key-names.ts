import { forwardKey } from '../ui/index.ts'

const isMac = () => /Mac|iPhone|iPad/.test(navigator.userAgent)

const SIGNS: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Enter: '↵',
}

/** The keys of a shortcut as they are printed on a keyboard. `names` translates those with words on them. */
export function keyNames(shortcut: string, names: Readonly<Record<string, string>>): string[] {
  return shortcut.split('+').map((key) => {
    if (key === 'Mod') return isMac() ? '⌘' : (names['Control'] ?? key)
    if (isMac() && key === 'Alt') return '⌥'
    return SIGNS[forwardKey(key)] ?? names[key] ?? key
  })
}
