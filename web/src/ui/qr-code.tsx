import { useQuery } from '@tanstack/react-query'
import { Waiting } from './states.tsx'

const BORDER = 3

/** QR code of a text. Black on white in both themes, because cameras read that best. */
export function QrCode(props: { text: string; label: string }) {
  const { data } = useQuery({
    queryKey: ['qr', props.text],
    queryFn: async () => {
      const { encode } = await import('uqr')
      return encode(props.text, { ecc: 'M', border: BORDER })
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data === undefined) return <Waiting />
  const { size } = data
  const dark = data.data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={props.label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
