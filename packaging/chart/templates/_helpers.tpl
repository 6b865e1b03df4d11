{{/* Labels of every object. */}}
{{- define "divvy.labels" -}}
app.kubernetes.io/name: divvy
app.kubernetes.io/part-of: karmada
{{ include "divvy.release" . }}
{{- end }}

{{/* Labels of objects that have no others. */}}
{{- define "divvy.release" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels by which pods are found. */}}
{{- define "divvy.selector" -}}
app.kubernetes.io/name: divvy
{{- end }}
