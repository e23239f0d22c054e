<?xml version="1.0" encoding="UTF-8"?>
<!-- Prices become the answer to an order: how many articles have one, and what they cost together. -->
<xsl:stylesheet version="1.0"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"
                xmlns:p="urn:weir:prices"
                xmlns="urn:weir:orders"
                exclude-result-prefixes="p">
  <xsl:template match="/">
    <soap:Envelope>
      <soap:Body>
        <orderPlaced>
          <articles><xsl:value-of select="count(//p:price)"/></articles>
          <total><xsl:value-of select="sum(//p:price)"/></total>
        </orderPlaced>
      </soap:Body>
    </soap:Envelope>
  </xsl:template>
</xsl:stylesheet>
