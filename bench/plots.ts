import { figure } from './figure.ts'
import type { DatabaseKind, Finding } from './row.ts'
import { databaseNames } from './table.ts'

// Plots of a run as SVG text. They have a background of their own, so they can be read on light and dark pages.

const WIDTH = 860
const LABELS = 400
const BAR = 22
const TOP = 64
const COLORS: Record<DatabaseKind, string> = { sqlite: '#2563eb', postgres: '#c2410c' }
const INK = '#0f172a'
const PALE = '#475569'

/** The files of all plots of a run, by their names. */
export function plotsOf(findings: readonly Finding[]): Map<string, string> {
  const plots = new Map<string, string>()
  const limited = findings.filter(({ limit, bare }) => limit !== undefined && !bare)
  if (limited.length > 0) plots.set('ratios.svg', ratioPlot(limited))
  const curves = new Set(findings.flatMap(({ point }) => (point === undefined ? [] : [point.curve])))
  for (const curve of curves) {
    const points = findings.filter(({ point }) => point?.curve === curve)
    plots.set(`${curve.replace(/[^a-z0-9]+/gi, '-').toLowerCase()}.svg`, curvePlot(curve, points))
  }
  return plots
}

/** One bar for each row with a raw limit: how many times faster it is than the limit, on a logarithmic axis. */
function ratioPlot(findings: readonly Finding[]): string {
  const ratios = findings.map((finding) => ({ finding, ratio: ratioOf(finding) }))
  const [low, high] = decades(ratios.map(({ ratio }) => ratio))
  const room = WIDTH - LABELS - 90
  const at = (ratio: number) => LABELS + ((Math.log10(ratio) - low) / (high - low)) * room
  const height = TOP + findings.length * BAR + 30
  const lines = range(low, high).map((power) => {
    const x = at(10 ** power)
    const stroke = power === 0 ? INK : '#cbd5e1'
    return `<path d="M${round(x)} ${TOP - 8}V${height - 24}" stroke="${stroke}"/>${label(x, height - 8, `× ${10 ** power}`, 'middle')}`
  })
  const bars = ratios.map(({ finding, ratio }, index) => {
    const y = TOP + index * BAR
    const [from, to] = [at(1), at(ratio)].sort((a, b) => a - b) as [number, number]
    const color = COLORS[finding.database]
    return (
      label(LABELS - 10, y + 15, `${finding.what} (${databaseNames[finding.database]})`, 'end') +
      `<rect x="${round(from)}" y="${y + 3}" width="${round(Math.max(1, to - from))}" height="${BAR - 7}" fill="${color}"/>` +
      label(Math.max(from, to) + 6, y + 15, `× ${ratio.toPrecision(2)}`)
    )
  })
  const note = 'Right of × 1: faster than the raw limit of the machine that the row names.'
  return svg(height, 'Measured values as multiples of raw limits', note, [...lines, ...bars])
}

/** A value that is better when it is lower is compared the other way round. */
function ratioOf({ value, unit, limit }: Finding): number {
  const raw = limit?.value ?? Number.NaN
  return unit === 'ms' ? raw / value : value / raw
}

/** One line for each database, on logarithmic axes. */
function curvePlot(curve: string, findings: readonly Finding[]): string {
  const height = 380
  const [left, right, top, bottom] = [90, WIDTH - 40, TOP + 10, height - 60]
  const xs = findings.map(({ point }) => point?.x ?? 1)
  const [xLow, xHigh] = decades(xs)
  const [yLow, yHigh] = decades(findings.map(({ value }) => value))
  const x = (value: number) => left + ((Math.log10(value) - xLow) / (xHigh - xLow)) * (right - left)
  const y = (value: number) => bottom - ((Math.log10(value) - yLow) / (yHigh - yLow)) * (bottom - top)
  const grid = [
    ...range(yLow, yHigh).map((power) => {
      const at = round(y(10 ** power))
      return `<path d="M${left} ${at}H${right}" stroke="#e2e8f0"/>${label(left - 8, at + 4, figure(10 ** power), 'end')}`
    }),
    ...range(xLow, xHigh).map((power) => {
      const at = round(x(10 ** power))
      return `<path d="M${at} ${top}V${bottom}" stroke="#e2e8f0"/>${label(at, bottom + 18, (10 ** power).toLocaleString('en-US'), 'middle')}`
    }),
  ]
  const databases = [...new Set(findings.map(({ database }) => database))]
  const lines = databases.flatMap((database, index) => {
    const own = findings
      .filter((finding) => finding.database === database)
      .map(({ point, value }) => ({ x: round(x(point?.x ?? 1)), y: round(y(value)), value }))
      .sort((a, b) => a.x - b.x)
    const color = COLORS[database]
    return [
      `<polyline points="${own.map((at) => `${at.x},${at.y}`).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...own.map(
        (at) =>
          `<circle cx="${at.x}" cy="${at.y}" r="3.5" fill="${color}"/>${label(at.x, at.y - 9 - index * 14, figure(at.value), 'middle', color)}`,
      ),
      `<rect x="${left + index * 130}" y="${height - 28}" width="12" height="12" fill="${color}"/>${label(left + 18 + index * 130, height - 17, databaseNames[database])}`,
    ]
  })
  const first = findings[0]
  const note = `${first?.unit ?? ''}, by ${first?.point?.of ?? ''}; both axes are logarithmic`
  return svg(height, curve, note, [...grid, ...lines])
}

function svg(height: number, title: string, note: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>${escape(title)}</title>
<rect width="${WIDTH}" height="${height}" rx="10" fill="#f8fafc"/>
<text x="20" y="28" font-size="16" font-weight="600" fill="${INK}">${escape(title)}</text>
${label(20, 47, note)}
${parts.join('\n')}
</svg>
`
}

function label(x: number, y: number, text: string, anchor = 'start', color = PALE): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${color}">${escape(text)}</text>`
}

/** The powers of ten around some values, at least one apart. */
function decades(values: readonly number[]): [number, number] {
  const logs = values.filter((value) => value > 0).map((value) => Math.log10(value))
  const low = Math.floor(Math.min(0, ...logs))
  return [low, Math.max(low + 1, Math.ceil(Math.max(0, ...logs)))]
}

function range(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index)
}

const round = (value: number) => Math.round(value * 10) / 10

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
}
