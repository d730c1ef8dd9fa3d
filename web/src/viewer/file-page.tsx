export default function FilePage() {
  return <div className="page" />
}
