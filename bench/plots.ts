import { figure } from './figure.ts'
import { type DatabaseKind, type Finding, speedRatio, type Unit } from './row.ts'
import { databaseNames } from './table.ts'

// Plots of a run as SVG text. They have a background of their own, so they can be read on light and dark pages.

const WIDTH = 860
const LABELS = 460
const BAR = 22
const TOP = 64
const DATABASE_COLORS: Record<DatabaseKind, string> = { sqlite: '#2563eb', postgres: '#c2410c' }
/** Of the lines of a panel, dark enough for text on the background. */
const LINE_COLORS = ['#2563eb', '#c2410c', '#047857', '#7c3aed', '#be185d', '#854d0e']
const INK = '#0f172a'
const PALE = '#475569'
const PANEL = 250
const PANEL_GAP = 74
const LEGEND = 200

/** The files of all plots of a run, by their names. */
export function plotsOf(findings: readonly Finding[]): Map<string, string> {
  const plots = new Map<string, string>()
  const limited = findings.filter(({ limit, bare, value }) => limit !== undefined && !bare && value > 0)
  if (limited.length > 0) plots.set('ratios.svg', ratioPlot(limited))
  const points = findings.flatMap(({ point, value, unit, database }) =>
    point === undefined || !(value > 0) ? [] : [{ ...point, value, unit, database }],
  )
  for (const [curve, own] of Map.groupBy(points, (point) => point.curve))
    plots.set(`${curve.replace(/[^a-z0-9]+/gi, '-').toLowerCase()}.svg`, curvePlot(curve, own))
  return plots
}

/** One bar for each row with a raw limit: how many times faster it is than the limit, on a logarithmic axis. */
function ratioPlot(findings: readonly Finding[]): string {
  const ratios = findings.map((finding) => ({
    finding,
    ratio: speedRatio(finding, finding.limit?.value ?? Number.NaN),
  }))
  const [low, high] = decades([1, ...ratios.map(({ ratio }) => ratio)])
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
    const color = DATABASE_COLORS[finding.database]
    return (
      label(LABELS - 10, y + 15, `${finding.what} (${databaseNames[finding.database]})`, 'end') +
      `<rect x="${round(from)}" y="${y + 3}" width="${round(Math.max(1, to - from))}" height="${BAR - 7}" fill="${color}"/>` +
      label(Math.max(from, to) + 6, y + 15, `× ${ratio.toPrecision(2)}`)
    )
  })
  const note = 'Right of × 1: faster than the raw limit of the machine that the row names.'
  return svg(height, 'Measured values as multiples of raw limits', note, [...lines, ...bars])
}

/** A plotted value. */
interface Point {
  readonly series: string
  readonly database: DatabaseKind
  readonly x: number
  readonly of: string
  readonly value: number
  readonly unit: Unit
}

/** One panel for each unit, on logarithmic axes. */
function curvePlot(curve: string, points: readonly Point[]): string {
  const [xLow, xHigh] = decades(points.map(({ x }) => x))
  const panels = [...Map.groupBy(points, ({ unit }) => unit)]
  const parts = panels.flatMap(([unit, own], index) =>
    panel(own, unit, TOP + 20 + index * (PANEL + PANEL_GAP), [xLow, xHigh]),
  )
  const height = TOP + panels.length * (PANEL + PANEL_GAP)
  const note = `By the number of ${points[0]?.of ?? ''}; both axes are logarithmic. Times are medians.`
  return svg(height, curve, note, parts)
}

function panel(points: readonly Point[], unit: Unit, top: number, [xLow, xHigh]: [number, number]): string[] {
  const [left, right, bottom] = [96, WIDTH - LEGEND, top + PANEL]
  const [yLow, yHigh] = decades(points.map(({ value }) => value))
  const x = (value: number) => left + ((Math.log10(value) - xLow) / (xHigh - xLow)) * (right - left)
  const y = (value: number) => bottom - ((Math.log10(value) - yLow) / (yHigh - yLow)) * (bottom - top)
  const grid = [
    ...range(yLow, yHigh).map((power) => {
      const at = round(y(10 ** power))
      return `<path d="M${left} ${at}H${right}" stroke="#e2e8f0"/>${label(left - 8, at + 4, `${tick(power)} ${unit}`, 'end')}`
    }),
    ...range(xLow, xHigh).map((power) => {
      const at = round(x(10 ** power))
      return `<path d="M${at} ${top}V${bottom}" stroke="#e2e8f0"/>${label(at, bottom + 18, tick(power), 'middle')}`
    }),
  ]
  const isSeveral = new Set(points.map(({ database }) => database)).size > 1
  const lines = [...Map.groupBy(points, ({ series, database }) => `${series}\n${database}`).values()].map(
    (line, index) => {
      const sorted = line.toSorted((a, b) => a.x - b.x)
      const { series, database } = sorted[0] as Point
      return {
        name: isSeveral ? `${series} (${databaseNames[database]})` : series,
        color: LINE_COLORS[index % LINE_COLORS.length] ?? INK,
        dash: database === 'postgres' && isSeveral ? ' stroke-dasharray="6 4"' : '',
        spots: sorted.map((point) => ({
          x: round(x(point.x)),
          y: round(y(point.value)),
          value: point.value,
        })),
      }
    },
  )
  const drawn = lines.flatMap(({ color, dash, spots }) => [
    `<polyline points="${spots.map((at) => `${at.x},${at.y}`).join(' ')}" fill="none" stroke="${color}" stroke-width="2"${dash}/>`,
    ...spots.map((at) => `<circle cx="${at.x}" cy="${at.y}" r="3" fill="${color}"/>`),
  ])
  return [...grid, ...drawn, ...legend(lines, right + 12, top, bottom)]
}

interface Line {
  readonly name: string
  readonly color: string
  readonly spots: readonly { readonly y: number; readonly value: number }[]
}

const LEGEND_STEP = 30

/** The name and last value of each line beside its end, moved apart where ends are close to each other. */
function legend(lines: readonly Line[], x: number, top: number, bottom: number): string[] {
  const ends = lines
    .map((line) => ({ ...line, last: line.spots.at(-1) }))
    .toSorted((a, b) => (a.last?.y ?? 0) - (b.last?.y ?? 0))
  let free = top + 4
  const lowest = bottom - 14 - (ends.length - 1) * LEGEND_STEP
  return ends.flatMap(({ name, color, last }, index) => {
    const at = Math.max(free, Math.min(last?.y ?? 0, lowest + index * LEGEND_STEP))
    free = at + LEGEND_STEP
    return [
      label(x, at, name, 'start', color),
      label(x, at + 13, `${figure(last?.value ?? 0)} at the end`, 'start'),
    ]
  })
}

const tick = (power: number) => (10 ** power).toLocaleString('en-US', { maximumFractionDigits: 6 })

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
  const low = Math.floor(Math.min(...logs))
  return [low, Math.max(low + 1, Math.ceil(Math.max(...logs)))]
}

function range(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index)
}

const round = (value: number) => Math.round(value * 10) / 10

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
}
