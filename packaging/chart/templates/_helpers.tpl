{{/* The cluster whose objects are rendered, or nothing: a parent chart switches this one off by its condition, everyone else by the value. */}}
{{- define "divvy.cluster" -}}
{{ ternary .Values.cluster "" .Values.enabled }}
{{- end }}

{{/* The name of the objects in the host cluster, and the label by which the pods are found. */}}
{{- define "divvy.name" -}}
{{ .Values.nameOverride | default "divvy" }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "divvy.labels" -}}
{{ include "divvy.selector" . }}
app.kubernetes.io/part-of: karmada
{{ include "divvy.release" . }}
{{- end }}

{{/* Labels of objects that have no others. */}}
{{- define "divvy.release" -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels of what the Prometheus operator selects by labels. */}}
{{- define "divvy.monitor" -}}
{{ merge (include "divvy.selector" . | fromYaml) (include "divvy.release" . | fromYaml) .Values.monitoring.labels | toYaml }}
{{- end }}

{{/* Labels by which pods are found. */}}
{{- define "divvy.selector" -}}
app.kubernetes.io/name: {{ include "divvy.name" . }}
{{- end }}

{{/* The image, by digest if there is one. */}}
{{- define "divvy.image" -}}
{{ required "image.repository: expected where your image is, such as registry.example/divvy: Divvy is in no public registry" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}
