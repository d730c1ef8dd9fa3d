/** Explains why this version of Node is not supported; undefined if it is. The range is `>=24.16 <25 || >=26.1`. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isSupported = (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26
  if (isSupported) return undefined
  return `Carrel needs Node.js 24.16 or newer of the 24 line, or 26.1 or newer, and this is ${version}: install Node.js 24 and try again.`
}
