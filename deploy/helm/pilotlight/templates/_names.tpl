{{/* Names and labels. Each template takes the context of this chart: `.` here, `.Subcharts.pilotlight` in yours. */}}

{{- define "pilotlight.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride }}
{{- else if contains "pilotlight" .Release.Name -}}
{{ .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-pilotlight" (.Release.Name | trunc 42 | trimSuffix "-") }}
{{- end -}}
{{- end -}}

{{- define "pilotlight.labels" -}}
app.kubernetes.io/name: pilotlight
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "pilotlight-%s" .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* What its pods are known by: a pod with the sidecar has its app's own labels beside these. */}}
{{- define "pilotlight.podLabels" -}}
{{- if eq .Values.mode "sidecar" -}}
pilotlight/sidecar: 'true'
pilotlight/release: {{ include "pilotlight.fullname" . | quote }}
{{- else -}}
app.kubernetes.io/name: pilotlight
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
{{- end -}}

{{- define "pilotlight.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}
