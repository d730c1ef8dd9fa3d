import type { Point } from './trend.ts'

const WIDTH = 720
const HEIGHT = 110
const LEFT = 60

/** One chart below another, as an SVG picture. */
export function plot(
  charts: readonly { readonly title: string; readonly points: readonly Point[] }[],
): string {
  const rows = charts.map(({ title, points }, row) => {
    const top = row * (HEIGHT + 30) + 20
    const lastAt = points.at(-1)?.at ?? 1
    const most = Math.max(1e-9, ...points.map(({ value }) => value))
    const place = ({ at, value }: Point) => {
      const x = LEFT + (at / lastAt) * (WIDTH - LEFT - 10)
      return `${x.toFixed(1)},${(top + HEIGHT - (value / most) * HEIGHT).toFixed(1)}`
    }
    return [
      `<text x="${LEFT}" y="${top - 6}">${title}</text>`,
      `<text x="${LEFT - 6}" y="${top + 10}" text-anchor="end">${most.toPrecision(3)}</text>`,
      `<text x="${LEFT - 6}" y="${top + HEIGHT}" text-anchor="end">0</text>`,
      `<path d="M${LEFT},${top} V${top + HEIGHT} H${WIDTH - 10}" fill="none" stroke="#999"/>`,
      `<polyline points="${points.map(place).join(' ')}" fill="none" stroke="#0a58ca" stroke-width="1.5"/>`,
    ].join('\n')
  })
  const height = charts.length * (HEIGHT + 30) + 20
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n${rows.join('\n')}\n</svg>\n`
}
