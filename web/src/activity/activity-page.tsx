export default function ActivityPage() {
  return <div className="page" />
}
