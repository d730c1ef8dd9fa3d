/** The name of a recovered version: `name (recovered from DATE).ext`. `time` in Unix seconds. */
export function recoveredName(name: string, time: number): string {
  const date = new Date(time * 1000).toISOString().slice(0, 10)
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  return `${stem} (recovered from ${date})${extension}`
}
