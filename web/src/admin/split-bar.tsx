export const purposes = ['current', 'trash', 'history', 'deleted', 'unreferenced'] as const
type Purpose = (typeof purposes)[number]

/** All stored bytes of an account or of the server: the figure called "Stored" on every page. */
export function storedTotal(bytes: Readonly<Record<Purpose, number>>): number {
  return purposes.reduce((sum, purpose) => sum + bytes[purpose], 0)
}

/** Stacked bar of bytes by purpose. Decorative, because the numbers are next to it. */
export function SplitBar(props: { bytes: Readonly<Record<Purpose, number>> }) {
  const total = storedTotal(props.bytes)
  let at = 0
  return (
    <svg className="admin-split" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
      <rect className="admin-split-none" width="100" height="8" />
      {purposes.map((purpose) => {
        const width = total === 0 ? 0 : (props.bytes[purpose] / total) * 100
        const x = at
        at += width
        return <rect key={purpose} className={`admin-split-${purpose}`} x={x} width={width} height="8" />
      })}
    </svg>
  )
}
